#!/usr/bin/env bash
# Installs what is missing for building and checking Debian packages, and tries them.
set -euo pipefail
unset CDPATH  # with it, cd may print
if [[ ${MEND_TEST_LONG-} != 1 ]]; then echo "skipped: it is one of the long tests (MEND_TEST_LONG=1)"; exit 77; fi

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
log=$checkout/build/packaging.log
mkdir -p "$checkout/build"
source "$checkout/jobs/setup/say.sh"
source "$checkout/jobs/setup/packages.sh"
on_debian || { echo "skipped: the system is not Debian"; exit 77; }
packages=(debhelper dpkg-dev lintian)
optional_packages=()
export DEBFULLNAME="Ada & Sons | Tests"  # letters that mean something else in other places
begin_log
install_missing_packages
"$checkout/packaging/debian/try.sh"
