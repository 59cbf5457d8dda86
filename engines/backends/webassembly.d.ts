/** The part of WebAssembly's types that the engines use; they come with `lib.dom`, which no server file should see. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports?: Imports);
    readonly exports: Record<string, unknown>;
  }
  class Memory {
    constructor(descriptor: { initial: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  type ModuleImports = Record<string, Memory | ((...call: never[]) => unknown)>;
  type Imports = Record<string, ModuleImports>;
  function compile(bytes: Uint8Array): Promise<Module>;
}
