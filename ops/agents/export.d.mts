export interface AgentFile {
  /** With `/`. */
  readonly path: string;
  readonly text: string;
}

export interface AskedGateway {
  call(method: string, path: string): Promise<unknown>;
}

/** Errors: those of `gateway`; one of the name NoVerdict, whose message says what is to be done. */
export function filesOf(gateway: AskedGateway, name: string): Promise<readonly AgentFile[]>;
