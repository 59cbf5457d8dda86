/** The part of the page that gets the microphone's samples: 16-bit pieces of 100 ms, each with its loudness. */
const PIECE_SECONDS = 0.1;

class Microphone extends AudioWorkletProcessor {
  #piece = new Int16Array(Math.round(sampleRate * PIECE_SECONDS));
  #length = 0;
  #squares = 0;

  process([[samples]]) {
    for (const sample of samples ?? []) {
      this.#squares += sample * sample;
      this.#piece[this.#length++] = Math.max(-1, Math.min(1, sample)) * 32_767;
      if (this.#length === this.#piece.length) this.#send();
    }
    return true;
  }

  #send() {
    const loudness = Math.sqrt(this.#squares / this.#length);
    const pcm = this.#piece.slice().buffer;
    this.port.postMessage({ pcm, loudness }, [pcm]);
    this.#length = 0;
    this.#squares = 0;
  }
}

registerProcessor('microphone', Microphone);
