export const timeMessages = {
  ahead: '{{time}}, {{difference}} ahead of you',
  behind: '{{time}}, {{difference}} behind you',
  same: '{{time}}, the same time as you',
} as const;
