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
fd=4
while [ "$1" != -- ]; do
  case $1 in
    open) eval "exec $fd<\\"\\$2\\""; fd=$((fd + 1)) ;;
    shared-memory) [ ! -d /dev/shm ] || mount -t tmpfs -o "nosuid,nodev,mode=1777,size=$2" tmpfs /dev/shm ;;
    temporary) mount --bind "$2" /tmp; mount --bind /tmp /var/tmp ;;
    hide)
      if [ -d "$2" ]; then mount -t tmpfs -o size=1m,mode=755 tmpfs "$2"
      elif [ -e "$2" ]; then mount --bind /dev/null "$2"; fi ;;
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
