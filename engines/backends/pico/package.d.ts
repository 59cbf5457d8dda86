/** The parts of an untyped package that are used here. Numbers are addresses in its memory, or codes. */
declare module '@echogarden/svoxpico-wasm' {
  export interface PicoModule {
    /** The program's memory; a new array after it has grown. */
    readonly HEAPU8: Uint8Array;
    readonly FS: {
      writeFile(path: string, bytes: Uint8Array): void;
      unlink(path: string): void;
    };
    _malloc(bytes: number): number;
    _pico_initialize(area: number, bytes: number, outSystem: number): number;
    _pico_loadResource(system: number, path: number, outResource: number): number;
    _pico_getResourceName(system: number, resource: number, outName: number): number;
    _pico_createVoiceDefinition(system: number, voice: number): number;
    _pico_addResourceToVoiceDefinition(system: number, voice: number, name: number): number;
    _pico_newEngine(system: number, voice: number, outEngine: number): number;
    _pico_putTextUtf8(engine: number, text: number, bytes: number, outTaken: number): number;
    _pico_getData(engine: number, buffer: number, bytes: number, outBytes: number, outType: number): number;
  }
  const load: () => Promise<PicoModule>;
  export default load;
}
