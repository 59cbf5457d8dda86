/** Resamples the microphone's audio to 24 kHz, in pieces of 100 ms: each sample is the mean of those that it replaces. */
const RATE = 24_000;
const PIECE = RATE / 10;

class Capture extends AudioWorkletProcessor {
  #step = sampleRate / RATE;
  #sum = 0;
  #weight = 0;
  #piece = new Float32Array(PIECE);
  #filled = 0;

  process([[samples = []] = []]) {
    for (const sample of samples) this.#take(sample);
    return true;
  }

  /** An input sample may complete one output sample, or several if the microphone's rate is the lower one. */
  #take(sample) {
    let left = 1;
    for (let room = this.#step - this.#weight; left >= room; room = this.#step) {
      this.#put((this.#sum + sample * room) / this.#step);
      left -= room;
      this.#sum = 0;
      this.#weight = 0;
    }
    this.#sum += sample * left;
    this.#weight += left;
  }

  #put(sample) {
    this.#piece[this.#filled] = sample;
    this.#filled += 1;
    if (this.#filled < PIECE) return;
    this.port.postMessage(this.#piece);
    this.#piece = new Float32Array(PIECE);
    this.#filled = 0;
  }
}

registerProcessor('capture', Capture);
