import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writePem } from '@directory-gateway/x509';
import { serialNumberOf } from '../__testUtils__/certificateFacts';
import { existingAuthority } from '../__testUtils__/existingAuthority';
import { aliceRequest } from '../__testUtils__/requests';
import { TestCa } from '../__testUtils__/TestCa';
import { sqlite } from '../__testUtils__/TestDatabase';
import { AUTHORITIES } from '../database/rows';

describe('An authority that is given', () => {
  let ca: TestCa;
  const authorities = () => ca.database.knex(AUTHORITIES);

  let given: ReturnType<typeof existingAuthority>;
  let chainFile: string;

  beforeEach(async () => {
    ca = await TestCa.start(sqlite);
    given = existingAuthority();
    chainFile = join(ca.folder, 'chain.pem');
    await mkdir(dirname(ca.keyFile));
    await writeFile(ca.keyFile, given.key, { mode: 0o600 });
    await writeFile(chainFile, given.chain);
  });

  afterEach(async () => {
    await ca.stop();
  });

  it('signs with it, and answers with the whole chain', async () => {
    const { authority } = await ca.open({ chainFile });
    const issued = await authority.sign(aliceRequest());
    expect(issued.chain).toHaveLength(3);
    expect(
      issued.chain
        .slice(1)
        .map(der => writePem('CERTIFICATE', der))
        .join(''),
    ).toBe(given.chain);
    expect(await authority.get(serialNumberOf(issued))).toEqual(issued);
  });

  it('makes no key when it is not there', async () => {
    await rm(ca.keyFile);
    expect(await ca.refusalOf(await ca.open({ chainFile }))).toMatch(
      /is not there/,
    );
    expect(await authorities()).toHaveLength(0);
  });

  it('refuses the key of another, and a chain that is none', async () => {
    await writeFile(chainFile, existingAuthority().chain);
    expect(await ca.refusalOf(await ca.open({ chainFile }))).toMatch(
      /must be that of/,
    );
    const [first] = given.chain.split(/(?<=END CERTIFICATE-----\n)/);
    const [, otherRoot] = existingAuthority().chain.split(
      /(?<=END CERTIFICATE-----\n)/,
    );
    await writeFile(chainFile, first + otherRoot);
    expect(await ca.refusalOf(await ca.open({ chainFile }))).toMatch(
      /not signed by/,
    );
    await writeFile(chainFile, 'nothing');
    expect(await ca.refusalOf(await ca.open({ chainFile }))).toMatch(
      /no certificate/,
    );
    await rm(chainFile);
    expect(await ca.refusalOf(await ca.open({ chainFile }))).toMatch(
      /cannot be read/,
    );
    expect(await authorities()).toHaveLength(0);
  });

  it('takes a renewed certificate of the same key', async () => {
    const before = await ca.open({ chainFile });
    const issued = await before.authority.sign(aliceRequest());
    await writeFile(chainFile, given.renew());
    const after = await ca.open({ chainFile });
    expect(after.keeper.current.id).toBe(before.keeper.current.id);
    const found = await after.authority.get(serialNumberOf(issued));
    expect(found?.chain[1]).toEqual(after.keeper.current.chain[0]);
    expect(found?.chain[1]).not.toEqual(issued.chain[1]);
  });

  it('refuses a second one in place of the first', async () => {
    await ca.open({ chainFile });
    const other = existingAuthority();
    await writeFile(ca.keyFile, other.key);
    await writeFile(chainFile, other.chain);
    expect(await ca.refusalOf(await ca.open({ chainFile }))).toMatch(
      /another key/,
    );
    expect(await authorities()).toHaveLength(1);
  });
});
