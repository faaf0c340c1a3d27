/** A public project, and what a person types to train it. */
export interface Program {
  name: string;
  kind: string;
  /** Its repository, a folder of `--projects`, or its source archive on PyPI, which the proof downloads. */
  from: { repository: string } | { archive: string };
  /** Folder inside of it where the person types. */
  folder?: string;
  /** Packages that its README says to install, where no file of its folder does. */
  packages?: readonly string[];
  /** Data in place of its own download, as a data set. */
  data?: 'characters' | 'digits' | 'posts' | 'text';
  variables?: Readonly<Record<string, string>>;
  /** Its command, with the smallest sizes that it offers. */
  command: readonly string[];
  /** The words that the second training replaces, if it takes any flag. */
  change?: readonly [from: string, to: string];
  /** Metrics that must be there; those of `curves` at several steps. */
  curves?: readonly string[];
  metrics?: readonly string[];
  /** Files that must be kept at least. */
  minFiles?: number;
  /** One training is enough, because nothing is to be compared. */
  isOnce?: true;
}

/** What came of it. */
export interface Outcome {
  name: string;
  kind: string;
  /** Files of the project that had to be changed. */
  edits: number;
  /** Whether its packages had to be named. */
  isTold: boolean;
  /** Seconds of both trainings, from the command to its end. The first one includes the environment. */
  seconds: number[];
  curves: string[];
  metrics: string[];
  source: string | null;
  params: number;
  best: string;
  files: number;
  /** Params that tell both trainings apart in `mps compare`. */
  compared: string[];
  faults: string[];
}
