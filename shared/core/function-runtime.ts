/** Settings of a Lambda function that differ from the default. */
export interface FunctionRuntime {
  /** MiB. Lambda allocates CPU in proportion: one full vCPU at 1,769 MiB. */
  memory?: number;
  /** MiB of `/tmp`; default 512. */
  disk?: number;
  /**
   * Seconds after which Lambda ends the function. An answer to a request may not take longer than the default of
   * 29.
   */
  timeout?: number;
  /** Instances that are reserved for it, and its maximum; by default it shares those of the account. */
  concurrency?: number;
  /** Packages with native code. They are installed next to the bundle for the processor of the cloud. */
  native?: readonly string[];
  /** Default arm64. */
  processor?: 'arm64' | 'x86_64';
  /** Programs that it starts, bundled next to it: source files by the name of the program. */
  programs?: Readonly<Record<string, string>>;
  /** Module that Lambda loads in place of the endpoint's: it exports the handler, too, and does what is done before requests. */
  start?: string;
  /** Whether it has the memory and the disk that the deployment has for serving models. */
  servesModels?: boolean;
}
