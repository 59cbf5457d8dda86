/** As much of sherpa-onnx-node as this folder uses; the package ships no types. */
declare module 'sherpa-onnx-node' {
  export interface Waveform {
    samples: Float32Array;
    sampleRate: number;
  }
  export interface OfflineStream {
    acceptWaveform(waveform: Waveform): void;
  }
  export interface OfflineRecognizerConfig {
    featConfig: { sampleRate: number; featureDim: number };
    modelConfig: {
      moonshine: { encoder: string; mergedDecoder: string };
      tokens: string;
      numThreads: number;
      debug: 0 | 1;
    };
  }
  export interface OfflineRecognizer {
    createStream(): OfflineStream;
    decodeAsync(stream: OfflineStream): Promise<{ text: string }>;
  }
  export interface VadConfig {
    sileroVad: {
      model: string;
      threshold: number;
      minSilenceDuration: number;
      minSpeechDuration: number;
      windowSize: number;
      maxSpeechDuration: number;
    };
    sampleRate: number;
    numThreads: number;
    debug: boolean;
  }
  export interface Vad {
    acceptWaveform(samples: Float32Array): void;
    isDetected(): boolean;
    isEmpty(): boolean;
    pop(): void;
    flush(): void;
    reset(): void;
  }
  const sherpa: {
    OfflineRecognizer: { createAsync(config: OfflineRecognizerConfig): Promise<OfflineRecognizer> };
    Vad: new (config: VadConfig, bufferSizeInSeconds: number) => Vad;
  };
  export default sherpa;
}
