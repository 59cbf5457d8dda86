/** The parts of two untyped, optional packages that are used here. */
declare module '@echogarden/espeak-ng-emscripten' {
  export interface EspeakEvent {
    readonly type: 'samplerate' | 'sentence' | 'word' | 'phoneme' | 'end';
    /** Position in characters (code points), from 1. */
    readonly text_position: number;
    /** Milliseconds from the start of the utterance. */
    readonly audio_position: number;
    /** A phoneme's name, empty for a pause. */
    readonly id: string | number | undefined;
  }
  export interface EspeakWorker {
    /** 0 if the voice exists; otherwise the previous voice stays. */
    set_voice(name: string): number;
    /** Words a minute. */
    set_rate(rate: number): void;
    /** Synchronous; calls back with at most 0.1 s of samples, and the events in them. */
    synthesize(
      text: string,
      heard: (samples: Int16Array | null, events: readonly EspeakEvent[]) => void,
    ): void;
  }
  export interface EspeakModule {
    readonly eSpeakNGWorker: new () => EspeakWorker;
    /** The program's memory; a new array after it has grown. */
    readonly HEAPU8: Uint8Array;
  }
  const load: () => Promise<EspeakModule>;
  export default load;
}

declare module 'kuromoji' {
  export interface Token {
    readonly surface_form: string;
    /** Part of speech. */
    readonly pos: string;
    /** Katakana as spoken; absent for words that the dictionary lacks. */
    readonly pronunciation?: string;
  }
  export interface Tokenizer {
    tokenize(text: string): readonly Token[];
  }
  const kuromoji: {
    builder(options: { readonly dicPath: string }): {
      build(done: (error: Error | null, tokenizer: Tokenizer) => void): void;
    };
  };
  export default kuromoji;
}
