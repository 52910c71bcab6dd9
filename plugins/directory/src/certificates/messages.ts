import { detailsMessages } from './details/messages';
import { requestMessages } from './request/messages';

export const certificatesMessages = {
  request: 'Request a certificate',
  copySerial: 'Copy serial number {{serial}}',
  column: {
    subject: 'Subject',
    serial: 'Serial number',
    issuer: 'Issuer',
    ends: 'Ends',
    actions: 'Actions',
  },
  actions: {
    label: 'Actions for {{serial}}',
    details: 'Details',
    pem: 'Download certificate (PEM)',
    chain: 'Download chain (PEM)',
    reminder: 'Calendar reminder (.ics)',
  },
  timeline: { today: 'Today' },
  reminder: {
    title: 'Certificate {{subject}} ends',
    description: 'Serial number {{serial}}. Request the next one here:',
  },
  open: {
    label: 'Open a certificate by its serial number',
    hint: 'Decimal or hexadecimal, as any tool prints it',
    refused:
      'That is no serial number: digits, or hexadecimal as in 0x1A2B or 1A:2B',
    button: 'Open',
  },
  none: {
    title: 'You have no certificates',
    description:
      'A certificate proves to servers and programs who you are. Its key is made in this browser and stays with you.',
  },
  stranger: {
    title: 'The directory does not know you',
    description:
      'Certificates belong to people of the directory, and your sign-in is not one of them.',
  },
  notAllowed: {
    title: 'You may not request certificates',
    description:
      'The portal does not allow it to your account. Ask the people who run it.',
  },
  details: detailsMessages,
  newOne: requestMessages,
} as const;
