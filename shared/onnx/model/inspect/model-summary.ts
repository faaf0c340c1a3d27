/** One input or output of a model. */
export interface TensorSummary {
  name: string;
  /**
   * The element type by its ONNX name (`float`, `int64`, …), or `sequence`, `optional`, `map`, `sparse_tensor`.
   */
  type: string;
  /** Dimensions: a number, the name of an open dimension, or null for an unnamed one. Null if the rank is open. */
  shape: (number | string | null)[] | null;
}

/** Summary of a model, without its weights. */
export interface ModelSummary {
  ir_version: number;
  /** Program that wrote the model, with its version if given. */
  producer: string;
  /** Version of each operator set by its domain; ONNX's own is `ai.onnx`. */
  opsets: Record<string, number>;
  /** Inputs that a caller must supply. Excludes inputs with an initializer. */
  inputs: TensorSummary[];
  /** Inputs with an initializer, their default; at most 100. */
  defaulted_inputs: string[];
  outputs: TensorSummary[];
  /**
   * Count of each operator, including nested graphs. An operator of another domain than ONNX's is
   * `domain.Operator`.
   */
  operators: Record<string, number>;
  nodes: number;
  initializers: number;
  /** Elements of all initializers. */
  parameters: number;
  /** Bytes of their elements in memory, regardless of where they are stored. */
  initializer_bytes: number;
  /** Unique names of the external data files, sorted. */
  external_files: string[];
  /** Minimum size of each external data file in bytes. */
  external_bytes: Record<string, number>;
  /** Whether a node contains a graph: If, Loop, Scan. */
  has_control_flow: boolean;
  /** Number of functions that the model defines. */
  functions: number;
}
