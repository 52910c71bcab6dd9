import { rowCounter } from './readMembersFile';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('rowCounter', () => {
  it('counts rows but not line breaks in cells, for any chunk boundaries', () => {
    const file =
      'username,human_name\r\nkarl,"Karl ""K""\nLarsson"\r\né,"\n"\r\n';
    const whole = rowCounter();
    expect(whole(bytes(file))).toBe(3);

    const inPieces = rowCounter();
    const counts = [...bytes(file)].map(byte => inPieces(Uint8Array.of(byte)));
    expect(counts[counts.length - 1]).toBe(3);
    expect(new Set(counts)).toEqual(new Set([0, 1, 2, 3]));
  });
});
