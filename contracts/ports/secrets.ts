/** Uses of the installation's secret (docs/contract/decisions.md 23): encryption at rest, and keys for signatures. */
export interface Secrets {
  /** AES-256-GCM; `context` says whose it is, and opens nothing else. */
  seal(plain: string, context: string): Uint8Array;
  /** Errors: where the bytes were changed or sealed for another context. */
  open(sealed: Uint8Array, context: string): string;
  /** 32 bytes of one purpose's own, the same on every process of the installation. */
  key(purpose: string): Uint8Array;
}
