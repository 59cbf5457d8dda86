#!/bin/sh
# Runs a program on a hostile file: sh limited.sh CPU_SECONDS OPEN_FILES ADDRESS_KIB DATA_KIB PROGRAM [ARGS]
# No core dumps, no file may be written, and the environment (keys, addresses) is not passed on.
# A memory limit of 0 means none; one that the system does not support (macOS) is skipped.
# If memory runs out, this program ends, and nothing else (processes/oom.ts).
{ echo 800 >/proc/self/oom_score_adj; } 2>/dev/null || :
ulimit -c 0 || exit 126
ulimit -f 0 || exit 126
ulimit -t "$1" || exit 126
ulimit -n "$2" || exit 126
[ "$3" = 0 ] || ulimit -v "$3" 2>/dev/null
[ "$4" = 0 ] || ulimit -d "$4" 2>/dev/null
shift 4
exec env -i PATH="$PATH" LD_LIBRARY_PATH="$LD_LIBRARY_PATH" "$@"
