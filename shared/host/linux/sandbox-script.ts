/**
 * The POSIX shell script that `unshare` starts in the new mount, process and IPC namespaces, before the command.
 * Its arguments up to `--` lay out the file system; then follow the working folder and the command. The first
 * argument is `stay` if remaining processes of the command may outlive it until the caller ends them, otherwise
 * `end`.
 *
 * - The first child in a process namespace is its init: when it ends, the kernel ends all processes of the
 * namespace. It
 *   ignores SIGCHLD, so that the kernel collects its orphans.
 * - Kept folders are opened first, because the folders above them are hidden before they are bound back.
 * - A folder without some of its entries is an empty one in which all others are mounted. A folder of more than 500
 *   entries, or the root, keeps them, but hides their content.
 * - `timeout` without a time only waits: unlike a shell, it ends as its command did, by the same signal or exit
 * code.
 */
export const sandboxScript = `set -e
PATH=/usr/sbin:/usr/bin:/sbin:/bin
echo 1000 2>/dev/null >/proc/self/oom_score_adj || :
init='cd /; trap "" CHLD; exec sleep infinity'
if [ "$1" = stay ]; then /bin/sh -c "$init" </dev/null >/dev/null 2>&1 3>&- &
else setpriv --pdeathsig KILL -- /bin/sh -c "$init" </dev/null >/dev/null 2>&1 3>&- & fi
shift
mount -t proc proc /proc
mask=$(umask)
umask 022
hide() {
  if [ -d "$1" ]; then mount -t tmpfs -o size=1m,mode=755 tmpfs "$1"
  elif [ -e "$1" ]; then mount --bind /dev/null "$1"; fi
}
fd=4
while [ "$1" != -- ]; do
  case $1 in
    open) eval "exec $fd<\\"\\$2\\""; fd=$((fd + 1)) ;;
    shared-memory) [ ! -d /dev/shm ] || mount -t tmpfs -o "nosuid,nodev,mode=1777,size=$2" tmpfs /dev/shm ;;
    temporary) mount --bind "$2" /tmp; mount --bind /tmp /var/tmp ;;
    account) for file in passwd group; do mount --bind "$2/$file" "/etc/$file"; done ;;
    hide) hide "$2" ;;
    without)
      # A folder of /tmp is not there.
      if [ ! -d "$2" ]; then :
      elif [ "$2" = / ] || [ "$(ls -A "$2" | wc -l)" -gt 500 ]; then
        names=$3
        while [ -n "$names" ]; do
          hide "$2/\${names%%/*}"
          case $names in */*) names=\${names#*/} ;; *) names= ;; esac
        done
      else
        cd "$2"
        hide "$2"
        for entry in * .*; do
          case /./../$3/ in */"$entry"/*) continue ;; esac
          if [ -h "./$entry" ]; then cp -P "./$entry" "$2/$entry"
          elif [ -d "./$entry" ]; then mkdir "$2/$entry"
          elif [ -e "./$entry" ]; then : >"$2/$entry"
          else continue; fi
          # The path is relative to the folder below the empty one. A file system may refuse to be mounted again.
          [ -h "$2/$entry" ] || mount --no-canonicalize --rbind "./$entry" "$2/$entry" || :
        done
        cd /
      fi
      shift ;;
    keep) mkdir -p "$2"; mount --no-canonicalize --rbind "/proc/self/fd/$3" "$2"; shift ;;
    show)
      mkdir -p "$2"; mount --no-canonicalize --rbind "/proc/self/fd/$3" "$2"
      mount -o remount,bind,ro "$2"; shift ;;
  esac
  shift 2
done
shift
umask "$mask"
cd "$1"
shift
exec timeout --foreground 0 "$@" 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-`;

/**
 * Maximum number of kept folders. They use descriptors 4 to 9, because a POSIX shell supports only single digits.
 */
export const maxKeptFolders = 6;
