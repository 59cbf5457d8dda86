/** The part of sherpa-onnx-node that this folder uses; the package ships no types. */
declare module 'sherpa-onnx-node' {
  export interface Waveform {
    samples: Float32Array;
    sampleRate: number;
  }
  interface Transducer {
    encoder: string;
    decoder: string;
    joiner: string;
  }
  interface OneFile {
    model: string;
  }
  interface ModelConfig {
    tokens: string;
    numThreads: number;
    debug: 0 | 1;
  }
  interface FeatureConfig {
    sampleRate: number;
    featureDim: number;
  }

  export interface DenoiserConfig {
    model: { gtcrn: OneFile; numThreads: number; debug: 0 | 1 };
  }
  export interface OnlineSpeechDenoiser {
    /** The audio that is ready, with less noise. */
    run(waveform: Waveform): Waveform;
    /** The remaining audio; resets the denoiser. */
    flush(): Waveform;
  }

  export interface OfflineStream {
    acceptWaveform(waveform: Waveform): void;
  }
  export interface OfflineModelConfig extends ModelConfig {
    moonshine?:
      | { encoder: string; mergedDecoder: string }
      | { preprocessor: string; encoder: string; uncachedDecoder: string; cachedDecoder: string };
    whisper?: { encoder: string; decoder: string; language: string; task: 'transcribe' };
    canary?: { encoder: string; decoder: string; srcLang: string; tgtLang: string; usePnc: 0 | 1 };
    senseVoice?: OneFile & { language: string; useInverseTextNormalization: 0 | 1 };
    transducer?: Transducer;
    paraformer?: OneFile;
    nemoCtc?: OneFile;
    zipformerCtc?: OneFile;
    wenetCtc?: OneFile;
  }
  export interface OfflineRecognizerConfig {
    featConfig: FeatureConfig;
    modelConfig: OfflineModelConfig;
  }
  export interface OfflineRecognizer {
    createStream(): OfflineStream;
    /** Takes effect with the next piece. */
    setConfig(config: OfflineRecognizerConfig): void;
    /** `lang`: the detected language, empty if the model does not report it. */
    decodeAsync(stream: OfflineStream): Promise<{ text: string; lang?: string }>;
  }

  export interface OnlineStream extends OfflineStream {
    inputFinished(): void;
  }
  export interface OnlineModelConfig extends ModelConfig {
    transducer: Transducer;
  }
  export interface OnlineRecognizerConfig {
    featConfig: FeatureConfig;
    modelConfig: OnlineModelConfig;
    enableEndpoint: boolean;
  }
  export interface OnlineRecognizer {
    createStream(): OnlineStream;
    isReady(stream: OnlineStream): boolean;
    decode(stream: OnlineStream): void;
    getResult(stream: OnlineStream): { text: string };
  }

  interface SpeakingModel extends OneFile {
    tokens: string;
    dataDir: string;
  }
  export interface OfflineTtsConfig {
    model: {
      vits?: SpeakingModel & { lexicon: string };
      kokoro?: SpeakingModel & { voices: string; lexicon: string; lang?: string };
      kitten?: SpeakingModel & { voices: string };
      matcha?: Omit<SpeakingModel, 'model'> & { acousticModel: string; vocoder: string; lexicon: string };
      numThreads: number;
      debug: 0 | 1;
      provider: 'cpu';
    };
    maxNumSentences: number;
  }
  export interface SpeakRequest {
    text: string;
    /** `extra.lang`: eSpeak's voice, for models of several languages. */
    generationConfig: { sid: number; speed: number; extra: { lang?: string } };
    enableExternalBuffer: boolean;
    /** Return false to stop. */
    onProgress?: (progress: { samples: Float32Array; progress: number }) => boolean;
  }
  export interface OfflineTts {
    readonly numSpeakers: number;
    readonly sampleRate: number;
    generateAsync(request: SpeakRequest): Promise<Waveform>;
  }

  const sherpa: {
    OfflineRecognizer: { createAsync(config: OfflineRecognizerConfig): Promise<OfflineRecognizer> };
    OnlineRecognizer: new (config: OnlineRecognizerConfig) => OnlineRecognizer;
    OfflineTts: { createAsync(config: OfflineTtsConfig): Promise<OfflineTts> };
    OnlineSpeechDenoiser: new (config: DenoiserConfig) => OnlineSpeechDenoiser;
  };
  export default sherpa;
}
