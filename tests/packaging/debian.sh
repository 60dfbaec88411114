#!/usr/bin/env bash
set -euo pipefail
if [[ ${MEND_TEST_LONG-} != 1 ]]; then echo "skipped: it is one of the long tests (MEND_TEST_LONG=1)"; exit 77; fi
if ((EUID != 0)) || ! command -v dh >/dev/null; then echo "skipped: it needs root, and debhelper"; exit 77; fi
exec "$(dirname "${BASH_SOURCE[0]}")/../../packaging/debian/try.sh"
