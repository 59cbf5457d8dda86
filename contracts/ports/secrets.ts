/** Uses of the installation's secret (docs/contract/decisions.md 23): encryption at rest, and keys for signatures. */
export interface Secrets {
  /** Encrypts with AES-256-GCM, bound to `context`, its owner: only the same context opens it. */
  seal(plain: string, context: string): Uint8Array;
  /** Throws if the bytes were changed, or sealed for another context. */
  openSealed(sealed: Uint8Array, context: string): string;
  /** 32 bytes specific to a purpose, the same in every process of the installation. */
  key(purpose: string): Uint8Array;
}
