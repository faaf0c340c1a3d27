/** What a function in the cloud has beyond the usual. */
export interface FunctionRuntime {
  /** MiB; processors come in proportion, one whole at 1,769. */
  memory?: number;
  /** Seconds after which it is ended; no answer to a request may take longer than the usual 29. */
  timeout?: number;
  /** Packages with machine code: they are installed beside the bundle for the processor of the cloud. */
  native?: readonly string[];
}
