# Open MPI with fault tolerance (ULFM): finds an installation or builds one. Uses $mend_prefix and $build, and what the
# command line says: $wanted and $uncorrected. Sets $mpi_home.

tested_version=$(sed -n 's/.* tested_open_mpi = "\(.*\)";/\1/p' "$here/setup/tested_open_mpi.hpp")
openmpi_version=$tested_version
openmpi_archive=  # of sources, if the user has named one
openmpi_commit=   # of Open MPI's repository, if the user wants its newest sources
openmpi_branch=   # the branch or tag of that commit
installed=        # the prefix that the user has named
uncorrected=
openmpi_patches=$here/setup/patches
# The two sources of the code, each with the digest of the version that was tested.
debian_suite=trixie
debian_source=openmpi=$openmpi_version-1
debian_tarball=openmpi_$openmpi_version.orig.tar.xz
debian_sha256=97f10c04e9b9a1771db3fd005009e4c07afa3ce739f940e41eb0fc7397cb9473
repository_url=https://github.com/open-mpi/ompi.git
release_tarball=openmpi-$openmpi_version.tar.bz2
release_url=https://download.open-mpi.org/release/open-mpi/v5.0/$release_tarball
release_sha256=119f2009936a403334d0df3c0d74d5595a32d99497f9b1d41e90019fee2fc2dd

# network_option LIBRARY PACKAGE: prints the option of configure for a network library, by whether its development
# package is there (PACKAGE is its name for pkg-config).
network_option() {
  local prefix
  if ! pkg-config --exists "$2" 2>/dev/null; then echo "--without-$1"; return; fi
  prefix=$(pkg-config --variable=prefix "$2")
  if [[ -z $prefix || $prefix == /usr ]]; then echo "--with-$1"; else echo "--with-$1=$prefix"; fi
}

# Bundled libraries, so that mend and Open MPI use the same PMIx. Parts that mend does not use are left out: that saves
# minutes, and avoids network layers that do not survive failures: those that come with the network libraries too.
has_networks() { [[ " ${configure_options[*]}" == *" --with-ucx"* || " ${configure_options[*]}" == *" --with-ofi"* ]]; }

# Sets $configure_options and $openmpi_prefix. Called again after packages were installed, for the Fortran compiler.
plan_openmpi() {
  configure_options=(
    --with-ft=ulfm --with-pmix=internal --with-prrte=internal --with-hwloc=internal --with-libevent=internal
    --disable-oshmem --disable-man-pages --disable-sphinx
    "$(network_option ucx ucx)" "$(network_option ofi libfabric)" --disable-io-romio --disable-debug CFLAGS=-O2
    # hwloc would look for devices in every process; ROCm's library for that complains where there are none.
    --disable-rsmi --disable-nvml --disable-opencl --disable-gl
  )
  if has_networks; then configure_options+=(--enable-mca-no-build=pml-ucx,pml-cm,mtl-ofi,osc-ucx,btl-usnic); fi
  # Programs in Fortran need the modules mpi and mpi_f08.
  if command -v gfortran >/dev/null; then
    configure_options+=(--enable-mpi-fortran=all)
  else
    configure_options+=(--disable-mpi-fortran)
  fi
  # mend has no use for the library of MPI's standard ABI, which 6.0 has.
  [[ $openmpi_version == "$tested_version" ]] || configure_options+=(--disable-standard-abi)
  # Named after mend's corrections, the configuration and an archive's content: if they differ, it is another Open MPI.
  local origin=("${configure_options[@]}")
  if [[ -n $openmpi_archive ]]; then origin+=("$(sha256sum <"$openmpi_archive")"); fi
  local patches=("$openmpi_patches"/*.patch)
  [[ $openmpi_version == "$tested_version" ]] || patches+=("$openmpi_patches"/later/*.patch)
  openmpi_prefix=$mend_prefix/openmpi-$openmpi_version-$(
    { cat "${patches[@]}"; printf '%s\n' "${origin[@]}"; } | sha256sum | head -c 8
  )
  if [[ -n $uncorrected ]]; then
    openmpi_prefix=$mend_prefix/openmpi-$openmpi_version-stock-$(
      printf '%s\n' "${origin[@]}" | sha256sum | head -c 8
    )
  fi
}
plan_openmpi

# Prints the version of the sources in an archive, from its file VERSION; nothing if they are not Open MPI's.
version_of_sources() {
  local text
  text=$(tar --extract --to-stdout --wildcards --no-wildcards-match-slash --file "$1" '*/VERSION' 2>/dev/null) || return 0
  awk -F= '{ gsub(/[[:space:]"]/, "", $2); value[$1] = $2 }
    END { if (value["major"] != "") print value["major"] "." value["minor"] "." value["release"] value["greek"] }' <<<"$text"
}

# Sets $openmpi_commit to the newest commit of a branch or tag of Open MPI's repository, and the version after it.
find_commit() {
  openmpi_branch=$1
  command -v git >/dev/null || refuse "'$wanted' needs git; jobs/setup.sh without options installs it"
  say "asking $repository_url for $1"
  local found
  # A tag with a message has a line of its own and one of its commit, which ends in ^{}.
  found=$(GIT_TERMINAL_PROMPT=0 timeout --foreground 60 git ls-remote "$repository_url" \
    "refs/heads/$1" "refs/tags/$1" "refs/tags/$1^{}" 2>/dev/null) ||
    refuse "'$wanted': the repository $repository_url cannot be reached"
  openmpi_commit=$(tail -n 1 <<<"$found" | head -c 40)
  [[ -n $openmpi_commit ]] || refuse "'$wanted': $repository_url has no branch or tag $1"
  openmpi_version=git-${openmpi_commit::12}
  packages+=("${packages_for_repository[@]}")
}

# Decides from the command line what is found or built. A folder or file whose name is that of another choice is ./git.
choose_openmpi() {
  if [[ $wanted == git || $wanted == git:?* ]]; then
    local branch=${wanted#git}
    branch=${branch#:}
    find_commit "${branch:-main}"
  elif [[ $wanted =~ ^[0-9]+\.[0-9]+\.[0-9]+[a-z0-9]*$ ]]; then
    openmpi_version=$wanted
  elif [[ -d $wanted ]]; then
    [[ -z $uncorrected ]] || refuse "--uncorrected is for an Open MPI that is built, and $wanted is a folder"
    installed=$(cd "$wanted" && pwd)
    local unsuitable
    suitable "$installed" || refuse "$wanted cannot be used: it $unsuitable"
    return
  elif [[ -f $wanted ]]; then
    openmpi_archive=$(realpath "$wanted")
    openmpi_version=$(version_of_sources "$openmpi_archive")
    [[ -n $openmpi_version ]] || refuse "$wanted has no sources of Open MPI"
  elif [[ -n $wanted ]]; then
    refuse "'$wanted' is neither a prefix, nor an archive of sources, nor git, nor a version like $tested_version"
  fi
  # 10#: with a leading zero it would be an octal number.
  [[ -n $openmpi_commit ]] || ((10#${openmpi_version%%.*} >= 5)) ||
    refuse "mend needs Open MPI 5.0 or later, and this is $openmpi_version"
  plan_openmpi
}

# The number of lines that configure and make write, for the progress display.
configure_lines=4650
make_lines=3460
install_lines=2870

openmpi_release() { "$1/bin/ompi_info" --version 2>/dev/null | sed -n 's/^Open MPI v//p'; }

# suitable PREFIX: returns success if it can be used; otherwise sets $unsuitable to the reason.
suitable() {
  local prefix=$1 tool release
  for tool in ompi_info mpirun mpicxx; do
    [[ -x $prefix/bin/$tool ]] || { unsuitable="has no bin/$tool"; return 1; }
  done
  release=$(openmpi_release "$prefix")
  [[ $release =~ ^([0-9]+)\. ]] && ((BASH_REMATCH[1] >= 5)) || {
    unsuitable="is not Open MPI 5.0 or later"
    return 1
  }
  # Reads the whole output: with grep -q, ompi_info may write to a closed pipe.
  [[ $("$prefix/bin/ompi_info" 2>/dev/null) =~ FT\ MPI\ support:\ *yes ]] || {
    unsuitable="has no fault tolerance (ompi_info does not say 'FT MPI support: yes')"
    return 1
  }
  [[ -f $prefix/include/pmix.h ]] || pkg-config --exists pmix 2>/dev/null || {
    unsuitable="comes without PMIx's headers"
    return 1
  }
}

# This line in build/environment.sh marks an Open MPI of the user's choice, which a set-up without options keeps.
choice_mark="# Chosen by --open-mpi or --uncorrected."

# build/environment.sh exports MPI_HOME. If that is a choice of the user's or built by mend, it exports the same by this
# name, so that a later set-up does not take it for the user's own MPI_HOME. Variables that begin with MEND_ are options
# of mend.
own_home=MPI_HOME_OF_MEND

# Prints the Open MPI of an earlier choice; nothing if there was none.
chosen_before() {
  if grep -qxF "$choice_mark" "$build/environment.sh" 2>/dev/null; then
    (source "$build/environment.sh" && printf '%s' "$MPI_HOME")
  fi
}

# Prints the prefix of the first Open MPI on PATH; nothing if there is none. Leaves out the folder that
# build/environment.sh has put there (of $1, once: the user may have it there too), and what mend has built.
openmpi_on_path() {
  local own=$1 folders folder
  IFS=: read -r -a folders <<<"$PATH"
  for folder in "${folders[@]}"; do
    if [[ -n $own && $folder == "$own/bin" ]]; then
      own=
    elif [[ -x $folder/ompi_info && $folder != "$mend_prefix"/openmpi-*/bin ]]; then
      dirname "$folder"
      return
    fi
  done
}

# Sets $mpi_home to a suitable Open MPI; one that the user names comes first.
find_openmpi() {
  local unsuitable candidates=() candidate chosen own=
  if [[ -n $installed ]]; then mpi_home=$installed; return; fi
  if [[ -n $wanted$uncorrected ]]; then
    suitable "$openmpi_prefix" || return
    mpi_home=$openmpi_prefix
    return
  fi
  chosen=$(chosen_before)
  if [[ ${MPI_HOME-} == "${!own_home-}" ]]; then own=${MPI_HOME-}; fi
  if [[ -n ${MPI_HOME-} && -z $own ]]; then
    if suitable "$MPI_HOME"; then mpi_home=$(cd "$MPI_HOME" && pwd); return; fi
    say "MPI_HOME is $MPI_HOME, which $unsuitable; looking further"
  fi
  if [[ -n $chosen ]]; then
    if suitable "$chosen"; then
      mpi_home=$chosen
      say "the Open MPI is that of an earlier --open-mpi or --uncorrected; removing build/environment.sh undoes that"
      return
    fi
    say "an earlier --open-mpi or --uncorrected chose $chosen, which $unsuitable; looking further"
  fi
  IFS=: read -r -a candidates <<<"${CMAKE_PREFIX_PATH-}"
  candidates+=("$(openmpi_on_path "$own")" "$openmpi_prefix")
  for candidate in "${candidates[@]}"; do
    if [[ -n $candidate ]] && suitable "$candidate"; then
      mpi_home=$(cd "$candidate" && pwd)
      return
    fi
  done
  return 1
}

has_digest() { [[ -f $1 ]] && sha256sum --check --status <<<"$2  $1"; }

# Debian 13's source package, from the mirror that this machine already uses. Its package lists are not changed.
fetch_from_debian() {
  local source=$1 mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL) $(COMPONENT)' 2>/dev/null |
    awk '$2 == "Debian" && $3 == "Debian" && $4 == "main" { print $1; exit }')
  [[ -n $mirror ]] || { echo "no Debian mirror is configured"; return 1; }
  local apt=$source/apt
  mkdir -p "$apt/lists/partial" "$apt/cache"
  cat >"$apt/debian.sources" <<END
Types: deb-src
URIs: $mirror
Suites: $debian_suite
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
  local options=(
    -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache"
    -o Dir::Etc::SourceList="$apt/debian.sources" -o Dir::Etc::SourceParts=/nonexistent
    -o APT::Sandbox::User="$(id -un)"
  )
  apt-get "${options[@]}" update || return
  (cd "$source" && apt-get "${options[@]}" source --download-only "$debian_source")
}

fetch_release() {
  local target=$1/$release_tarball
  if command -v curl >/dev/null; then
    curl --fail --location --silent --show-error --retry 3 --connect-timeout 20 --speed-limit 1000 --speed-time 60 \
      --output "$target" "$release_url"
  elif command -v wget >/dev/null; then
    wget --quiet --tries 3 --timeout 20 --output-document "$target" "$release_url"
  else
    echo "neither curl nor wget is there"
    return 1
  fi
}

# clone_openmpi FOLDER: gets the sources of $openmpi_commit, and what they need to be configured.
clone_openmpi() {
  export GIT_TERMINAL_PROMPT=0 GIT_HTTP_LOW_SPEED_LIMIT=1000 GIT_HTTP_LOW_SPEED_TIME=60
  git init --quiet "$1" && cd "$1" || return
  git fetch --depth 1 "$repository_url" "$openmpi_commit" && git checkout --quiet FETCH_HEAD || return
  git remote add origin "$repository_url"  # the submodules' places are given in relation to it
  git submodule update --init --recursive --depth 1 || return
  local major
  major=$(sed -n 's/^major=//p' VERSION)
  if ((major < 5)); then echo "mend needs Open MPI 5.0 or later, and this is $major"; return 1; fi
  ./autogen.pl --force
}

# Sets $tarball to a source with the right digest.
fetch_openmpi() {
  local source=$1
  mkdir -p "$source"
  if [[ -n $openmpi_archive ]]; then
    tarball=$openmpi_archive
    return
  fi
  if [[ $openmpi_version != "$tested_version" ]]; then
    release_tarball=openmpi-$openmpi_version.tar.bz2
    release_url=https://download.open-mpi.org/release/open-mpi/v${openmpi_version%.*}/$release_tarball
    tarball=$source/$release_tarball
    logged "fetching Open MPI $openmpi_version" 0 fetch_release "$source" ||
      give_up "the sources of Open MPI $openmpi_version could not be fetched from $release_url"
    say "mend does not know this release's digest; its SHA-256 is $(sha256sum "$tarball" | head -c 64)"
    return
  fi
  if on_debian; then
    tarball=$source/$debian_tarball
    has_digest "$tarball" "$debian_sha256" && return
    if logged "fetching Open MPI's source from Debian" 0 fetch_from_debian "$source"; then
      has_digest "$tarball" "$debian_sha256" && return
      give_up "the source of Open MPI from Debian is not the one expected (its SHA-256 differs)"
    fi
    say "Debian's source package could not be had; trying the release"
  fi
  tarball=$source/$release_tarball
  has_digest "$tarball" "$release_sha256" && return
  logged "fetching the release of Open MPI" 0 fetch_release "$source" ||
    give_up "the source of Open MPI could not be fetched; name an Open MPI with fault tolerance in MPI_HOME instead"
  has_digest "$tarball" "$release_sha256" ||
    give_up "the release of Open MPI is not the one expected (its SHA-256 differs)"
}

# The names of all corrections: of those in patches/ for the tested version, and of those in patches/later/ that only
# later versions need.
corrections() { find "$openmpi_patches" -name '*.patch' -printf '%f\n' | sort -u; }

# Applies the corrections. Those for the tested version must all fit that. Of another one, those count that fit without a
# doubt; patches/later/ has those whose place has moved since the tested version, and those that it does not need. Copies
# the applied ones to the folder $applied, which marks the installation.
patch_openmpi() {
  local name patch candidate exactly=()
  [[ $openmpi_version == "$tested_version" ]] || exactly=(--fuzz 0)
  mkdir -p "$applied"
  for name in $(corrections); do
    patch=$openmpi_patches/$name
    for candidate in "$patch" "$openmpi_patches/later/$name"; do
      [[ -f $candidate ]] || continue
      patch --directory "$1" --strip 1 --forward "${exactly[@]}" --dry-run --input "$candidate" || continue
      patch --directory "$1" --strip 1 --forward "${exactly[@]}" --input "$candidate" || return
      cp "$candidate" "$applied/" || return
      break
    done
    if [[ $openmpi_version == "$tested_version" && -f $patch && ! -f $applied/$name ]]; then return 1; fi
  done
}

# Says which corrections this Open MPI has, unless it has all.
report_corrections() {
  local name has=() lacks=()
  [[ $openmpi_version != "$tested_version" ]] || return 0
  for name in $(corrections); do
    if [[ -f $applied/$name ]]; then has+=("${name%.patch}"); else lacks+=("${name%.patch}"); fi
  done
  ((${#lacks[@]} > 0)) || return 0
  say "corrections that fit Open MPI $openmpi_version: ${has[*]:-none}"
  say "corrections that do not: ${lacks[*]}"
}

# Says that the Open MPI that is taken, of release $1, lacks corrections. It is not known which another release than
# the tested one needs: those that fit it were named when it was built.
report_missing_corrections() {
  local has=$mpi_home/share/mend/corrections patch missing=0 count=
  if [[ $1 == "$tested_version" ]]; then
    for patch in "$openmpi_patches"/*.patch; do
      [[ -f $has/${patch##*/} ]] || missing=$((missing + 1))
    done
    ((missing > 0)) || return 0
    count="$missing of "
  elif [[ -d $has ]]; then
    return 0
  fi
  say "without ${count}mend's corrections: docs/open-mpi.md; --open-mpi $tested_version builds one with them"
}

# Names the other builds of this kind (of the version, or of a repository; with corrections, or stock): there is another
# one after each change of a correction.
report_other_builds() {
  local kind=${openmpi_prefix##*/} one others=()
  kind=${kind%-*}
  [[ -z $openmpi_commit ]] || kind=${kind/git-${openmpi_commit::12}/git-????????????}
  for one in "$mend_prefix"/$kind-????????; do
    if [[ -d $one && $one != "$openmpi_prefix" ]]; then others+=("${one##*/}"); fi
  done
  ((${#others[@]} > 0)) || return 0
  say "earlier builds in $mend_prefix, to remove if nothing uses them any more: ${others[*]}"
}

# Says which networks this Open MPI can use.
report_networks() {
  local options=" ${configure_options[*]}"
  if [[ $options == *" --with-ucx"* ]]; then
    say "UCX is there: built with btl uct, for mend run --network uct (InfiniBand, RoCE)"
  else
    say "without UCX (its development package is not installed): InfiniBand is used through TCP"
  fi
  if [[ $options == *" --with-ofi"* ]]; then
    say "libfabric is there: built with btl ofi, for mend run --network ofi"
  else
    say "without libfabric (its development package is not installed)"
  fi
}

configure_openmpi() {
  # As root, libtool and configure's tests run programs of Open MPI.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  cd "$1" && "$2/configure" --prefix="$openmpi_prefix" "${configure_options[@]}"
}

# Installs to a staging folder and then moves the whole prefix, so that an interrupted set-up leaves no partial Open
# MPI.
install_openmpi() {
  local objects=$1 staging=$mend_prefix/.installing
  rm -rf "$staging"
  make -C "$objects" install DESTDIR="$staging" || return
  # Identifies this Open MPI.
  if [[ -d $applied ]]; then
    mkdir -p "$staging$openmpi_prefix/share/mend" &&
      cp -r "$applied" "$staging$openmpi_prefix/share/mend/corrections" || return
  fi
  rm -rf "$openmpi_prefix"
  mv "$staging$openmpi_prefix" "$openmpi_prefix" && rm -rf "$staging"
}

build_openmpi() {
  local work=$build/openmpi folder
  # configure and libtool cannot work in a folder with white space in its name.
  if [[ $work =~ [[:space:]] ]]; then
    work=$(mktemp -d "${TMPDIR:-/tmp}/mend-openmpi-XXXXXX")
    trap "rm -rf ${work@Q}" EXIT
  fi
  for folder in "$openmpi_prefix" "$work"; do
    [[ ! $folder =~ [[:space:]] ]] ||
      refuse "Open MPI cannot be built in '$folder', whose name has white space: set MEND_PREFIX (or TMPDIR) to another"
  done
  local source=$work/source objects=$work/objects applied=$work/applied
  if [[ -z $wanted$uncorrected ]]; then say "no Open MPI with fault tolerance found"; fi
  say "building Open MPI $openmpi_version${uncorrected:+ without corrections}, about 8 minutes on 2 cores, into"
  say "  $openmpi_prefix"
  report_networks
  rm -rf "$objects" "$source/openmpi" "$applied"
  mkdir -p "$objects" "$source"
  if [[ -n $openmpi_commit ]]; then
    logged "getting Open MPI's repository, $openmpi_branch (some minutes)" 0 clone_openmpi "$source/openmpi" ||
      give_up "$openmpi_branch of $repository_url could not be had, is older than 5.0, or its ./autogen.pl failed"
    tarball="$openmpi_branch of $repository_url"
  else
    fetch_openmpi "$source"
    mkdir "$source/openmpi"
    logged "unpacking Open MPI" 0 tar --extract --file "$tarball" --directory "$source/openmpi" --strip-components 1 ||
      give_up "the source of Open MPI could not be unpacked"
  fi
  [[ -x $source/openmpi/configure ]] ||
    give_up "$tarball has the sources of a repository, without configure: run their ./autogen.pl, and pack them again"
  if [[ -z $uncorrected ]]; then
    logged "applying mend's corrections to Open MPI" 0 patch_openmpi "$source/openmpi" ||
      give_up "mend's corrections do not fit this source of Open MPI"
    report_corrections
  fi
  logged "configuring Open MPI (about 2 minutes)" $configure_lines configure_openmpi "$objects" "$source/openmpi" ||
    give_up "Open MPI could not be configured"
  logged "compiling Open MPI (about 5 minutes)" $make_lines make -C "$objects" -j "$(nproc)" ||
    give_up "Open MPI could not be compiled"
  logged "installing Open MPI (half a minute)" $install_lines install_openmpi "$objects" ||
    give_up "Open MPI could not be installed in $openmpi_prefix"
  local unsuitable
  suitable "$openmpi_prefix" || give_up "the Open MPI just built $unsuitable"
  mpi_home=$openmpi_prefix
  rm -rf "$work"
  report_other_builds
}
