/** Phone numbers (docs/contract/platform.md 6.13), for their workspace and for incoming calls. */
import type { PhoneLeg, PhoneProvider } from '../../phone/phone.js';
import type { Listed, PageRequest } from '../page.js';
import type { SessionRecord } from '../sessions/sessions.js';

export interface NewPhoneNumber {
  readonly provider: PhoneProvider;
  /** As `phoneAddress` writes it. */
  readonly address: string;
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
}

export interface PhoneNumber extends NewPhoneNumber {
  readonly id: string;
  readonly workspaceId: string;
  /** Whether it has the credentials for the provider's API. */
  readonly placesCalls: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Absent fields stay as they are, also those within `api`. */
export type PhoneNumberChange = Partial<
  Pick<NewPhoneNumber, 'agentId' | 'enabled' | 'apiUrl'> & NumberSecrets
>;

export interface PhoneNumbers {
  list(workspaceId: string, page: PageRequest): Promise<Listed<PhoneNumber>>;
  read(id: string, workspaceId: string): Promise<PhoneNumber | undefined>;
  /**
   * Errors: `not_found` without such an agent, `conflict` if the workspace already has the number, or as many numbers as it
   * may have.
   */
  create(number: NewPhoneNumber, secrets: NumberSecrets, workspaceId: string): Promise<PhoneNumber>;
  /** Errors: `not_found` without such an agent. */
  change(id: string, workspaceId: string, change: PhoneNumberChange): Promise<PhoneNumber | undefined>;
  /** Numbers with that address or id; several if the address is registered at several providers. */
  named(name: string, workspaceId: string): Promise<readonly PhoneNumber[]>;
  /** Running calls are not ended. */
  remove(id: string, workspaceId: string): Promise<boolean>;
}

/** Numbers of all workspaces, for webhooks of the provider. */
export interface DialledNumbers {
  /** Several if workspaces share a number: the webhook's signature tells whose call it is. */
  find(
    provider: PhoneProvider,
    address: string,
  ): Promise<readonly { readonly number: PhoneNumber; readonly secret: string }[]>;
  /** Notes that the provider has asked about the call. False if it had asked before. */
  note(numberId: string, callId: string): Promise<boolean>;
}

/** Numbers of all workspaces, for services that must know them beforehand. */
export interface AnsweredNumbers {
  /** All enabled numbers of that provider that have an agent. */
  answered(
    provider: PhoneProvider,
  ): Promise<readonly { readonly number: PhoneNumber; readonly secret: string }[]>;
}

/** A number with its opened credentials. */
export interface OpenedNumber {
  readonly number: PhoneNumber;
  readonly secret: string;
  readonly api: Credentials;
}

/** Numbers of all workspaces, for placing calls. */
export interface DiallingNumbers {
  open(id: string): Promise<OpenedNumber | undefined>;
}

/** Sessions of phone calls. */
export interface PhoneSessions {
  /** Errors: those of creating a session with a key. */
  begin(agentId: string, workspaceId: string, leg: PhoneLeg): Promise<SessionRecord>;
}
