/**
 * What to do where a server has a certificate of an authority that Node does not know: most often a proxy that inspects TLS stands in
 * between. contracts/parts/outcome-of.ts has the same codes, for the gateway's own requests.
 */
const UNKNOWN_AUTHORITY =
  /\b(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE)\b/;

const HINT =
  '\n  Its certificate is of an authority that Node does not know, as behind a proxy that inspects TLS:' +
  '\n  set NODE_EXTRA_CA_CERTS in the environment to the PEM file of that authority';

/** A second line for a message about an error whose code stands in `text`; empty for any other. */
export const authorityHint = (text = '') => (UNKNOWN_AUTHORITY.test(text) ? HINT : '');
