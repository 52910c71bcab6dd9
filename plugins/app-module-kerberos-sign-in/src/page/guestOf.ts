import type { ConfigApi } from '@backstage/frontend-plugin-api';

/** The person whom the guest provider lets one be. */
export interface Guest {
  /** As in `Alice`, for people to read. */
  readonly name: string;
}

/**
 * The guest, where the guest provider is configured and lets people in: in
 * development, or outside of it where that is allowed expressly.
 */
export function guestOf(config: ConfigApi): Guest | undefined {
  const guest = config.getOptionalConfig('auth.providers.guest');
  const isOpen =
    process.env.NODE_ENV === 'development' ||
    guest?.getOptionalBoolean('dangerouslyAllowOutsideDevelopment') === true;
  if (!guest || !isOpen) {
    return undefined;
  }
  const ref = guest.getOptionalString('userEntityRef') ?? 'guest';
  const name = ref.slice(ref.search(/[^:/]*$/));
  return { name: name.charAt(0).toLocaleUpperCase('en') + name.slice(1) };
}
