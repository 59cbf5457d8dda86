/** The certificate of the server, in words for the person who started the gateway. */
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';

/** PEM files. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Errors: an Error that names the file at fault. */
export async function checkCertificate(tls: CertificateFiles): Promise<void> {
  const read = (file: string): Promise<Buffer> =>
    readFile(file).catch((cause: unknown) => {
      throw new Error(`Cannot read the TLS file ${file}`, { cause });
    });
  const [cert, key] = await Promise.all([read(tls.certFile), read(tls.keyFile)]);
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw new Error(`${tls.certFile} and ${tls.keyFile} are not a certificate and its key`, { cause });
  }
}
