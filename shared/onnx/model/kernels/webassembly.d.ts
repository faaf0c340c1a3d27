/** What kernels.ts uses of WebAssembly, which neither Node's types nor those of the language describe. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  /** Whoever makes one knows what it exports. */
  class Instance<E extends object> {
    constructor(module: Module);
    readonly exports: E;
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
}
