/** Settings of a Lambda function that differ from the default. */
export interface FunctionRuntime {
  /** MiB. Lambda allocates CPU in proportion: one full vCPU at 1,769 MiB. */
  memory?: number;
  /**
   * Seconds after which Lambda ends the function. An answer to a request may not take longer than the default of
   * 29.
   */
  timeout?: number;
  /** Packages with native code. They are installed next to the bundle for the processor of the cloud. */
  native?: readonly string[];
}
