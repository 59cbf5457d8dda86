/** The certificate of the server, in words for the person who started the gateway. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';

/** PEM files. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Errors: an Error if TLS cannot use both together. OpenSSL itself takes a key of another kind (EC, RSA) than the certificate's. */
function checkPair(cert: Buffer, key: Buffer): void {
  createSecureContext({ cert, key });
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error('the key is that of another certificate');
}

/** Errors: an Error that names the file at fault. */
export async function checkCertificate(tls: CertificateFiles): Promise<void> {
  const read = (file: string): Promise<Buffer> =>
    readFile(file).catch((cause: unknown) => {
      throw new Error(`Cannot read the TLS file ${file}`, { cause });
    });
  const [cert, key] = await Promise.all([read(tls.certFile), read(tls.keyFile)]);
  try {
    checkPair(cert, key);
  } catch (cause) {
    throw new Error(`${tls.certFile} and ${tls.keyFile} are not a certificate and its key`, { cause });
  }
}
