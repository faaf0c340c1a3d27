/** One input or output of a model. */
export interface TensorSummary {
  name: string;
  /** `float`, `int64`, …: the element type in ONNX's own words, or `sequence`, `optional`, `map`, `sparse_tensor`. */
  type: string;
  /** A number, the name of a dimension that is free, or null for one without a name; null where the rank is open. */
  shape: (number | string | null)[] | null;
}

/** Summary of a model, without its weights. */
export interface ModelSummary {
  ir_version: number;
  /** Program that wrote it, with its version where it is given. */
  producer: string;
  /** Version of each operator set by its domain; ONNX's own is `ai.onnx`. */
  opsets: Record<string, number>;
  /** Inputs that a caller must give: those that an initializer backs are not among them. */
  inputs: TensorSummary[];
  outputs: TensorSummary[];
  /** How often each operator occurs, in nested graphs too; one of another domain than ONNX's is `domain.Operator`. */
  operators: Record<string, number>;
  nodes: number;
  initializers: number;
  /** Elements of all initializers. */
  parameters: number;
  /** Bytes that their elements take in memory, wherever they are stored. */
  initializer_bytes: number;
  /** Names of the external data files, each once, sorted. */
  external_files: string[];
  /** Bytes that each of them must have at least. */
  external_bytes: Record<string, number>;
  /** Whether a node holds a graph of its own: If, Loop, Scan. */
  has_control_flow: boolean;
  /** Functions that the model defines itself. */
  functions: number;
}
