/**
 * What `unshare` starts before a command, in its new mount, process and IPC namespaces: a POSIX shell script that lays
 * out the file system by its arguments up to `--`, which a working folder and the command follow. The first one is `stay` where what
 * the command leaves running may outlive it, until somebody ends it, else `end`.
 *
 * - The first child in a namespace of processes is its init, with which the kernel ends everything in there. To ignore
 *   SIGCHLD is to have the kernel collect the orphans that it gets.
 * - Folders that stay are opened first, because what lies above them is covered before they are bound back.
 * - `timeout` without a time only waits: unlike a shell, it ends as its command did, by the same signal or exit code.
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

/** Descriptors 4 to 9: a POSIX shell opens no others by number. */
export const mostKeptFolders = 6;
