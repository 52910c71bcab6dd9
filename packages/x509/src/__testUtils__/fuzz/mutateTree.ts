import { DerNode } from '../../der/DerNode';
import { parseDer } from '../../der/parseDer';
import { tlv } from '../tlv';
import { mutateBytes } from './mutateBytes';
import { Random } from './Random';

const TAGS = [
  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x14, 0x16, 0x1b, 0x1c, 0x1e,
  0x30, 0x31, 0x80, 0x81, 0x82, 0x86, 0x87, 0x88, 0xa0, 0xa1, 0xa3, 0xa4, 0xa5,
];

class TreeMutation {
  readonly #target: number;
  readonly #random: Random;
  #index = -1;

  constructor(target: number, random: Random) {
    this.#target = target;
    this.#random = random;
  }

  write(node: DerNode): Buffer {
    this.#index += 1;
    if (this.#index === this.#target) {
      return this.#change(node);
    }
    return node.children.length > 0
      ? tlv(node.tag, ...node.children.map(child => this.write(child)))
      : node.der;
  }

  #change({ tag, der, content, children }: DerNode): Buffer {
    const random = this.#random;
    switch (random.below(7)) {
      case 0:
        return Buffer.alloc(0);
      case 1:
        return Buffer.concat([der, der]);
      case 2:
        return tlv(random.pick(TAGS), content);
      case 3:
        return tlv(tag, der);
      case 4:
        return tlv(tag, ...[...children].reverse().map(child => child.der));
      case 5:
        return this.#changeInside({ tag, content });
      default:
        return tlv(tag, mutateBytes(content, random));
    }
  }

  /** Changes a value inside an OCTET STRING or BIT STRING, if there is one. */
  #changeInside({ tag, content }: { tag: number; content: Buffer }): Buffer {
    const skipped = tag === 0x03 ? 1 : 0;
    try {
      const inner = mutateTree(content.subarray(skipped), this.#random);
      return tlv(tag, content.subarray(0, skipped), inner);
    } catch {
      return tlv(tag, mutateBytes(content, this.#random));
    }
  }
}

/** Changes one value and adjusts all lengths. */
export function mutateTree(der: Buffer, random: Random): Buffer {
  const root = parseDer(der);
  const target = random.below(countOf(root));
  return new TreeMutation(target, random).write(root);
}

function countOf(node: DerNode): number {
  return node.children.reduce((count, child) => count + countOf(child), 1);
}
