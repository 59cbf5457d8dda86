/** The part of WebAssembly's types that this folder uses; they come with `lib.dom`, which no server file should see. */
declare namespace WebAssembly {
  class Module {
    private constructor();
  }
  class Instance {
    constructor(module: Module, imports?: Record<string, ModuleImports>);
    readonly exports: Record<string, unknown>;
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
  type ModuleImports = Record<string, (...call: never[]) => unknown>;
  function compile(bytes: Uint8Array): Promise<Module>;
}
