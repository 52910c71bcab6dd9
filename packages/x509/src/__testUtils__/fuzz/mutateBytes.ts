import { Random } from './Random';

/** Octets that are special for parsers. */
const AWKWARD = [0x00, 0x01, 0x7f, 0x80, 0x81, 0xff, 0x30, 0x2d, 0x0a, 0x20];

/** Damages bytes in up to three places. */
export function mutateBytes(bytes: Buffer, random: Random): Buffer {
  let result = bytes;
  for (let times = 1 + random.below(3); times > 0; times -= 1) {
    result = mutateOnce(result, random);
  }
  return result;
}

function mutateOnce(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1);
  const end = at + random.below(9);
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (random.below(6)) {
    case 0:
      return flipBit(bytes, random);
    case 1:
      return Buffer.concat([
        head,
        Buffer.of(random.pick(AWKWARD)),
        tail.subarray(1),
      ]);
    case 2:
      return Buffer.concat([head, random.bytes(1 + random.below(4)), tail]);
    case 3:
      return Buffer.concat([head, bytes.subarray(end)]);
    case 4:
      return Buffer.concat([head, bytes.subarray(at, end), tail]);
    default:
      return random.below(4) === 0 ? head : flipBit(bytes, random);
  }
}

function flipBit(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length > 0) {
    copy[random.below(copy.length)] ^= 1 << random.below(8);
  }
  return copy;
}
