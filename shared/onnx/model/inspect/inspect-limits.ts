/** Limits of an inspection. They bound its reads and memory for any file. */
export interface InspectLimits {
  /** Reads of the source. */
  reads: number;
  /** Total bytes read. Raw tensor data is skipped and does not count. */
  bytes: number;
  /** Bytes of all kept names of initializers, inputs, outputs and operators. */
  nameBytes: number;
  /** Nesting depth of graphs and of types. */
  depth: number;
  /** Number of inputs, and number of outputs. */
  tensors: number;
  /** Number of different operators. */
  operators: number;
  /** Number of operator sets, and number of external data files. */
  entries: number;
  /** Names of the files and folders of external data. */
  fileName: RegExp;
}

/** Limits of a request, which has 29 s. Names in the summary stay well below a record's 400 KB. */
export const usualLimits: InspectLimits = {
  reads: 1200,
  bytes: 256 * 1024 ** 2,
  nameBytes: 16 * 1024 ** 2,
  depth: 32,
  tensors: 1000,
  operators: 1000,
  entries: 500,
  fileName: /^[A-Za-z0-9_][A-Za-z0-9 ._:+@=-]{0,199}$/,
};

/** Longest name in bytes. Exporters that name values after their modules produce some hundreds. */
export const maxNameBytes = 4096;

/** Bytes of all names in a summary. */
export const maxSummaryBytes = 150_000;
