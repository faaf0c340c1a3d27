/** What kernels.ts uses of WebAssembly, which neither Node's types nor those of the language describe. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  /** The caller knows the exports of its module. */
  class Instance<E extends object> {
    constructor(module: Module);
    readonly exports: E;
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
}
