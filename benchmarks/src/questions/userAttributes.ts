/** What the directory is asked for to answer a user's whole record. */
export const userAttributes: readonly string[] = [
  ...['uid', 'sn', 'givenName', 'displayName', 'mail', 'fasIRCNick'],
  ...['fasLocale', 'fasTimeZone', 'fasGPGKeyId', 'ipaSshPubKey'],
  ...['userCertificate;binary', 'fasCreationTime', 'fasIsPrivate'],
  ...['nsAccountLock', 'fasGitHubUsername', 'fasGitLabUsername', 'fasPronoun'],
  ...['fasRHBZEmail', 'fasWebsiteURL', 'fasRssUrl'],
];
