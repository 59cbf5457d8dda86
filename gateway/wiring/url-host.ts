/** A host as it stands in a URL: an IPv6 address is in brackets. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);
