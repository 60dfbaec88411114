# The packages of Debian 12 and 13 for building, testing and Open MPI; docs/dependencies.md gives the reasons.

packages=(
  g++ cmake ninja-build pkg-config make git
  libasio-dev libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libxxhash-dev libisal-dev libhdf5-dev libpng-dev
  libtrilinos-kokkos-dev libgtest-dev libgmock-dev
  # Needed to build Open MPI.
  perl patch flex zlib1g-dev xz-utils bzip2 dpkg-dev debian-archive-keyring ca-certificates
)

# Installed too by who may install packages; without them, something is left out or slower. jobs/corrections.sh needs
# procps.
optional_packages=(mold gfortran gdb clang-format clang-tidy curl procps)

# Needed for the sources of Open MPI's repository, which have no configure.
packages_for_repository=(autoconf automake libtool m4 python3)

on_debian() { [[ -r /etc/debian_version ]] && command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

may_install() { ((EUID == 0)) || sudo -n true 2>/dev/null; }

# Prints the packages that are not installed or, if the system is not Debian, the commands that are missing.
missing_packages() {
  if on_debian; then
    local wanted=("${packages[@]}")
    if may_install; then wanted+=("${optional_packages[@]}"); fi
    # dpkg-query lists the packages that it knows and complains about others; both kinds count as missing.
    comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) \
      <(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
        sed -n 's/^installed //p' | sort -u)
  else
    local tool
    for tool in c++ cmake ninja pkg-config make perl patch tar bzip2; do
      command -v "$tool" >/dev/null || printf '%s\n' "$tool"
    done
  fi
}

install_missing_packages() {
  local missing as_root=()
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]} > 0)) || return 0
  if ! on_debian; then
    give_up "not a Debian: please install ${missing[*]}, and the libraries that docs/dependencies.md lists"
  fi
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo -v; }; }; then
      give_up "packages are missing and you are not root; have the administrator run:  apt-get install ${missing[*]}"
    fi
    as_root=(sudo)
  fi
  say "installing ${#missing[@]} packages, one to three minutes: ${missing[*]}"
  logged "reading the lists of packages" 0 "${as_root[@]}" apt-get update ||
    give_up "the lists of packages could not be read (apt-get update)"
  logged "installing packages" 0 "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "${missing[@]}" || give_up "packages could not be installed"
}
