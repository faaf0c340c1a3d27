export interface SourceFile {
  path: string;
  size: number;
  /** Modification time in milliseconds. A changed time or size means that the file has changed. */
  changed: number;
}

export interface SourceFiles {
  files: SourceFile[];
  /** Empty folders. */
  folders: string[];
  /** Paths that are not uploaded, sorted. */
  leftOut: LeftOutPath[];
}

export interface LeftOutPath {
  path: string;
  /** Such as `a link to nothing`. */
  why: string;
  /** Target of a link out of the folder, absolute. */
  target?: string;
}
