import type { ChildProcess, SpawnOptions } from 'node:child_process';

/**
 * What the service asks of the operating system. `linux` uses `/proc`, namespaces and util-linux. `portable` uses
 * what POSIX systems share: `ps`, signals to process groups, and Node.js.
 */
export interface Host {
  readonly name: HostName;
  /** Variables with which a program that this process starts uses the same host. */
  readonly variables: Readonly<Record<string, string>>;
  /**
   * Return sentences for people about what this host cannot do; none for a host that can do everything.
   * @param hasOpenTables whether the embedded DynamoDB emulator runs and has no network of its own
   */
  limitations(hasOpenTables: boolean): Promise<readonly string[]>;

  /**
   * List every process of this machine or container at about this moment.
   * @param known process ids that lead a group. A host without a process table looks for these only.
   */
  listProcesses(known?: readonly number[]): Promise<ProcessInfo[]>;
  /** Read the process of a pid; null if there is none or it has ended. */
  readProcess(pid: number): Promise<ProcessInfo | null>;
  /** Filter the processes that were started with a marker, as far as the host shows environments. */
  withMarker(candidates: readonly ProcessInfo[], marker: EnvironmentMarker): Promise<ProcessInfo[]>;
  /** Whether two start times of one pid are those of the same process. False if the host cannot tell. */
  isSameStart(one: string, other: string): boolean;
  /** Whether a listed process still runs. True if the host can only tell by another listing. */
  isUnchanged(found: ProcessInfo): boolean;
  /**
   * Return a name of a process that no other process gets, at least until the machine restarts. A host without a
   * process table returns the pid.
   */
  identityOf(pid: number): Promise<string>;
  /**
   * Whether the process of an identity runs. Both kinds of host may run on one machine and share its locks, so an
   * identity of the other kind counts while its pid lives.
   */
  isRunning(identity: string): Promise<boolean>;

  /** Whether the host can sum the memory of a tree. */
  canWatchMemory(): Promise<boolean>;
  /** Milliseconds between two sums of the memory of a tree. */
  readonly memoryMilliseconds: number;
  /** Sum the resident bytes of processes, shared pages once per process. */
  residentBytes(pids: readonly number[]): Promise<number>;
  /** Sum the resident bytes of processes, shared pages once if the host can tell. */
  proportionalBytes(pids: readonly number[]): Promise<number>;
  /** Return the resident memory of a process with its children; null if it has ended. */
  memoryWithChildren(pid: number): Promise<ResidentMemory | null>;
  /** Return the largest resident memory of this process in bytes since `forgetPeak`, or since its start. */
  peakBytes(): Promise<number>;
  forgetPeak(): void;

  /** Return what the control group of this container uses; undefined if the host shows none. */
  containerUse(): ContainerUse | undefined;
  /** Return the bytes that this machine or container has received and sent; undefined if the host cannot tell. */
  networkBytes(): NetworkBytes | undefined;

  /** Return a command that cannot allocate more than `bytes`, if the host can enforce that. */
  withMemoryLimit(command: readonly string[], bytes: number): Promise<readonly string[]>;
  /** Make the kernel end a process and its future children before any other when memory runs out. */
  offerToOomKiller(pid: number | undefined): void;
  /** Make the kernel end this process before the service that started it. */
  offerSupervisorToOomKiller(): void;
  /** Count the processes that the kernel has killed for lack of memory; 0 if it does not report them. */
  kernelOomKills(): number;

  /**
   * Return the inode numbers of the files that processes can write to; undefined if the host cannot tell.
   * @param user owner of the processes, if it is not the user of this process
   */
  openForWriting(
    pids: readonly number[],
    user: CommandUser | undefined,
  ): Promise<ReadonlySet<bigint> | undefined>;
  /** Close inherited descriptors other than the standard streams, if the host can find them. */
  closeInheritedDescriptors(): void;
  /** Return a path of an open folder that stays valid if it is renamed; `path` if the host has none. */
  pathOf(descriptor: number, path: string): string;

  /** Whether this process can create sandboxes. */
  canSandbox(): boolean;
  /** Build the launch of a program: as another user, in a sandbox, as far as the host supports them. */
  launchAs(order: LaunchOrder): Promise<Launch>;
  /**
   * Return a command that the kernel kills when this process dies for any reason. Its pid is that of the program.
   * Return the program unchanged if the kernel cannot.
   */
  boundToParent(program: string, args: readonly string[]): CommandLine;
  /**
   * End the group of a child when this process dies for any reason, unless the kernel does that or the next start
   * of the service can. The child must lead its group. Call the result when the child has ended.
   */
  endWithThisProcess(child: ChildProcess): () => void;
  /** Return the means to run programs in networks of their own; undefined if the host refuses. */
  networkNamespaces(): Promise<NetworkNamespaces | undefined>;

  /** Return the instruction sets of the processor, under the names that the kernel gives them. */
  processorFlags(): ReadonlySet<string>;
}

export type HostName = 'linux' | 'portable';

/** A process that can still run code. Zombies are excluded. */
export interface ProcessInfo {
  /** Negative for a group as a whole, on a host without a process table. */
  pid: number;
  ppid: number;
  /** Process group. */
  group: number;
  /** Session; 0 on the portable host, because `ps` does not report it. */
  session: number;
  /** Real user id. A set-uid program does not change it. */
  uid: number;
  /** Start time. Distinguishes successive processes with the same pid, also across restarts of the machine. */
  startTime: string;
  /** Resident memory in bytes, including pages shared with other processes. */
  residentBytes: number;
  /** Seconds of processor time so far, with those of its ended children if the host can tell. */
  cpuSeconds: number;
  /** Whether the process is the init of a namespace below this process's own. */
  isNamespaceInit: boolean;
}

/** An environment variable that identifies the processes of a command. */
export interface EnvironmentMarker {
  name: string;
  value: string;
}

/** User and group of a command. It gets no supplementary groups. */
export interface CommandUser {
  uid: number;
  gid: number;
}

export interface ResidentMemory {
  /** Current bytes. */
  now: number;
  /** Peak bytes; the current bytes on systems that report no peak. */
  peak: number;
}

/** Use of a container by all its processes together. */
export interface ContainerUse {
  cpuSeconds: number;
  /** Without the file cache that the kernel can give up. */
  memoryBytes: number;
}

/** Traffic of all network interfaces but the loopback. */
export interface NetworkBytes {
  received: number;
  sent: number;
}

/** A program and its arguments. */
export interface CommandLine {
  file: string;
  args: string[];
}

/** The arguments for `spawn`. */
export interface Launch {
  file: string;
  args: readonly string[];
  options: Pick<SpawnOptions, 'env' | 'uid' | 'gid'>;
  /** Whether the spawned process only waits for the command, which is its child. */
  isWaiter: boolean;
}

export interface LaunchOrder {
  /** User of the command; requires root. The user of this process by default. */
  user: CommandUser | undefined;
  program: string;
  args: readonly string[];
  /** The command's whole environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  /**
   * The part of this machine that the command sees. Everything by default, or if the system does not support
   * sandboxes.
   */
  sandbox?: Sandbox | undefined;
  /**
   * An environment variable that identifies the processes, including the programs that prepare the command. The
   * caller uses it to end the processes that the command leaves in a sandbox.
   */
  marker?: EnvironmentMarker | undefined;
}

/** A folder that stays visible at its own path, even if its parent folders are hidden. */
export interface KeptFolder {
  path: string;
  readOnly: boolean;
}

/**
 * A command's view of this machine: only its own processes, its own `/tmp`, `/dev/shm` and System V memory, and
 * the file system without the hidden paths. The network is not restricted by default.
 */
export interface Sandbox {
  /** A folder of the supervisor for the command's `/tmp`, which is also its `/var/tmp`. */
  scratch: string;
  /** Files and folders whose content the command does not see. */
  hidden: readonly string[];
  /** Files and folders that do not exist for the command. Everything next to them does. Default: none. */
  absent?: readonly string[];
  /** At most six. Among nested folders the deeper one takes precedence. */
  kept: readonly KeptFolder[];
  /** Home of the command's user, who gets an entry `job` in `/etc/passwd` if the system has none for the user. */
  home?: string | undefined;
  /** Size of `/dev/shm` in bytes; half of the machine's memory by default. */
  sharedMemoryBytes?: number | undefined;
  /** No network at all, if the system allows that. */
  network?: 'none' | undefined;
}

/** Runs programs in their own network namespace, which has only a loopback interface. */
export interface NetworkNamespaces {
  /** Return the command that runs a program in a new namespace. The pid is that of the program. */
  create(program: string, args: readonly string[]): CommandLine;
  /**
   * Return the command that runs a program in the namespace of another process. The pid is that of the program.
   */
  join(pid: number, program: string, args: readonly string[]): CommandLine;
  /** Resolve when a process started by `create` is in its own namespace. */
  entered(pid: number): Promise<void>;
}
