/** Phone numbers (docs/contract/platform.md 6.13), for their workspace and for incoming calls. */
import type { PhoneLeg, PhoneProvider } from '../../phone/phone.js';
import type { Listed, PageRequest } from '../page.js';
import type { SessionRecord } from '../sessions/sessions.js';

export interface NewPhoneNumber {
  readonly provider: PhoneProvider;
  /** As `phoneAddress` writes it. */
  readonly address: string;
  /** For people. */
  readonly label: string;
  readonly agentId: string | null;
  readonly enabled: boolean;
  /** The provider's API, if not at its usual address. */
  readonly apiUrl: string | null;
}

/** By the names of `PHONE_CREDENTIALS`. */
export type Credentials = Readonly<Record<string, string>>;

export interface NumberSecrets {
  /** Verifies the provider's webhooks. */
  readonly secret: string;
  /** Further credentials for the provider's API. */
  readonly api?: Credentials;
  /** Of `sip`: user name and password with which its calls authenticate. */
  readonly inbound?: Credentials;
}

/** How calls of a number of `sip` come and go, without passwords. */
export interface SipConfig {
  /** IP addresses and networks from which its calls come; empty: any, with the account. */
  readonly sources: readonly string[];
  /** User of the account with which its calls authenticate (digest); null: without one. */
  readonly inboundUsername: string | null;
  /** The carrier's SIP server, in the format of `CREDENTIAL_FORMS`; null: no calls are placed. */
  readonly server: string | null;
  /** User of the account there; empty: without one. */
  readonly username: string;
}

/** Passwords that are left out stay as they are. */
export interface SipConfigChange extends Pick<SipConfig, 'sources'> {
  readonly inbound: { readonly username: string; readonly password?: string } | null;
  readonly termination: {
    readonly server: string;
    readonly username: string;
    readonly password?: string;
  } | null;
}

export interface PhoneNumber extends NewPhoneNumber {
  readonly id: string;
  readonly workspaceId: string;
  /** Whether it has the credentials for the provider's API. */
  readonly placesCalls: boolean;
  /** Unguessable part of the address that its provider is told. */
  readonly token: string;
  /** Another workspace has it, so that its calls go there; only of numbers that a server has to know beforehand (`sip`). */
  readonly belongsToAnother: boolean;
  /** Why calls do not come yet, of numbers that a server has to know beforehand; null if it does. */
  readonly setUpFailure: string | null;
  /** Only of numbers of `sip`, as their workspace reads them. */
  readonly sip?: SipConfig;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Absent fields stay as they are, also those within `api`. */
export type PhoneNumberChange = Partial<
  Pick<NewPhoneNumber, 'label' | 'agentId' | 'enabled' | 'apiUrl'> & Omit<NumberSecrets, 'inbound'>
>;

export interface PhoneNumberFilter {
  /** As `phoneAddress` writes it. */
  readonly address?: string;
  readonly agentId?: string;
}

export interface PhoneNumbers {
  list(workspaceId: string, filter: PhoneNumberFilter, page: PageRequest): Promise<Listed<PhoneNumber>>;
  read(id: string, workspaceId: string): Promise<PhoneNumber | undefined>;
  /**
   * Errors: `not_found` without such an agent, `conflict` if the workspace already has the number, or as many numbers as it
   * may have.
   */
  create(number: NewPhoneNumber, secrets: NumberSecrets, workspaceId: string): Promise<PhoneNumber>;
  /** Errors: `not_found` without such an agent. */
  change(id: string, workspaceId: string, change: PhoneNumberChange): Promise<PhoneNumber | undefined>;
  /**
   * Replaces how calls of a number of `sip` come and go; running ones go on. Undefined without such a number. Errors:
   * `validation_failed` if a password is left out and none is stored.
   */
  configureSip(id: string, workspaceId: string, config: SipConfigChange): Promise<PhoneNumber | undefined>;
  /** Numbers with that address or id; several if the address is registered at several providers. */
  named(name: string, workspaceId: string): Promise<readonly PhoneNumber[]>;
  /** Running calls are not ended. */
  remove(id: string, workspaceId: string): Promise<boolean>;
}

/** A workspace's claim to a number, with the secret that verifies its webhooks. */
export interface Claim {
  readonly number: PhoneNumber;
  readonly secret: string;
  /** Whether the workspace has shown that it has the number at the provider, or the operator has decided so. */
  readonly isProven: boolean;
}

/** Numbers of all workspaces, for webhooks of the provider. */
export interface DialledNumbers {
  /**
   * Claims to a number from the `skip`th on, a page of at most `LIMITS.phone.claims`: those that were proven first, then those that
   * were registered first.
   */
  find(provider: PhoneProvider, address: string, skip?: number): Promise<readonly Claim[]>;
  /** The claim to that number of the workspace to one of whose numbers at this provider the token belongs. */
  addressed(provider: PhoneProvider, token: string, address: string): Promise<Claim | undefined>;
  tokened(provider: PhoneProvider, token: string): Promise<Claim | undefined>;
  /** Claims at that provider, at most `most`: for handshakes that name no number. */
  known(provider: PhoneProvider, most: number): Promise<readonly Claim[]>;
  /** Notes that the workspace has the number at its provider. The first to have shown it keeps the number. */
  prove(numberId: string): Promise<void>;
  /** Notes that the provider has asked about the call. False if it had asked before. */
  note(numberId: string, callId: string): Promise<boolean>;
}

/** Numbers of all workspaces, for services that must know them beforehand. */
export interface AnsweredNumbers {
  /** All enabled numbers of that provider that have an agent, each of the one workspace whose it is. */
  answered(
    provider: PhoneProvider,
  ): Promise<
    readonly { readonly number: PhoneNumber; readonly secret: string; readonly inbound?: Credentials }[]
  >;
  /** Notes why the service does not have these numbers of that provider, by id: it has all others. */
  noteSetUp(provider: PhoneProvider, failures: Readonly<Record<string, string>>): Promise<void>;
  /** The same of one number alone. */
  noteFailure(id: string, failure: string): Promise<void>;
}

export interface OpenedNumber {
  readonly number: PhoneNumber;
  readonly secret: string;
  readonly api: Credentials;
}

/** Numbers of all workspaces, for placing calls. */
export interface DiallingNumbers {
  open(id: string): Promise<OpenedNumber | undefined>;
}

export interface PhoneSessions {
  /** Errors: those of creating a session with a key. */
  begin(agentId: string, workspaceId: string, leg: PhoneLeg): Promise<SessionRecord>;
}
