export const statesMessages = {
  loading: 'Loading',
  again: 'Try again',
  directoryAway: 'The directory cannot be reached',
  portalAway: 'The portal cannot be reached',
  refused: 'You may not see this',
  failed: 'That did not work',
  triesAgain: 'It is tried again by itself in {{delay}}.',
  loadedAt: 'What you see was loaded at {{time}}.',
  nothingLost: 'The rest of the portal works as ever.',
  reference: 'Reference for the support: {{id}}',
} as const;
