import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writePem } from '@directory-gateway/x509';
import { serialNumberOf } from '../__testUtils__/certificateFacts';
import { existingAuthority } from '../__testUtils__/existingAuthority';
import { aliceRequest } from '../__testUtils__/requests';
import { TestCa } from '../__testUtils__/TestCa';
import { sqlite } from '../__testUtils__/TestDatabase';
import { AUTHORITIES } from '../database/rows';

describe('CurrentAuthority with a provided CA', () => {
  let ca: TestCa;
  const authorities = () => ca.database.knex(AUTHORITIES);

  let provided: ReturnType<typeof existingAuthority>;
  let chainFile: string;

  beforeEach(async () => {
    ca = await TestCa.start(sqlite);
    provided = existingAuthority();
    chainFile = join(ca.folder, 'chain.pem');
    await mkdir(dirname(ca.keyFile));
    await writeFile(ca.keyFile, provided.key, { mode: 0o600 });
    await writeFile(chainFile, provided.chain);
  });

  afterEach(async () => {
    await ca.stop();
  });

  it('signs and returns the whole chain', async () => {
    const { authority } = await ca.open({ chainFile });
    const issued = await authority.sign(aliceRequest());
    expect(issued.chain).toHaveLength(3);
    expect(
      issued.chain
        .slice(1)
        .map(der => writePem('CERTIFICATE', der))
        .join(''),
    ).toBe(provided.chain);
    expect(await authority.get(serialNumberOf(issued))).toEqual(issued);
  });

  it('does not generate a missing key', async () => {
    await rm(ca.keyFile);
    expect(await ca.refusalOf(await ca.open({ chainFile }))).toMatch(
      /does not exist/,
    );
    expect(await authorities()).toHaveLength(0);
  });

  it('rejects the key of another CA and an invalid chain', async () => {
    await writeFile(chainFile, existingAuthority().chain);
    expect(await ca.refusalOf(await ca.open({ chainFile }))).toMatch(
      /must belong to its key/,
    );
    const [first] = provided.chain.split(/(?<=END CERTIFICATE-----\n)/);
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

  it('accepts a renewed certificate of the same key', async () => {
    const before = await ca.open({ chainFile });
    const issued = await before.authority.sign(aliceRequest());
    await writeFile(chainFile, provided.renew());
    const after = await ca.open({ chainFile });
    expect(after.currentAuthority.get().id).toBe(
      before.currentAuthority.get().id,
    );
    const found = await after.authority.get(serialNumberOf(issued));
    expect(found?.chain[1]).toEqual(after.currentAuthority.get().chain[0]);
    expect(found?.chain[1]).not.toEqual(issued.chain[1]);
  });

  it('rejects another CA than the recorded one', async () => {
    await ca.open({ chainFile });
    const other = existingAuthority();
    await writeFile(ca.keyFile, other.key);
    await writeFile(chainFile, other.chain);
    expect(await ca.refusalOf(await ca.open({ chainFile }))).toMatch(
      /is the key of CA/,
    );
    expect(await authorities()).toHaveLength(1);
  });
});
