import { KerberosPrincipal } from './GeneralName';

/**
 * Writes a principal as Kerberos does: `host/build1.example.test@EXAMPLE.TEST`. Separators inside
 * of a part get a `\` in front (as of `krb5_unparse_name`), so that the component
 * `alice@EXAMPLE.TEST` of another realm cannot pass for alice.
 */
export function formatKerberosPrincipal({
  components,
  realm,
}: Pick<KerberosPrincipal, 'components' | 'realm'>): string {
  return `${components.map(escape).join('/')}@${escape(realm)}`;
}

function escape(part: string): string {
  return part.replace(/[\\/@]/g, '\\$&');
}
