import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkSecretFile, readSecretFile } from './index';

describe('readSecretFile', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'secret-files-'));
    path = join(folder, 'secret');
    await writeFile(path, 'hunter2');
  });

  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it.each(['0400', '0600', '0440', '0640'])(
    'reads a file of mode %s',
    async mode => {
      await chmod(path, mode);
      expect((await readSecretFile(path)).toString()).toBe('hunter2');
      await checkSecretFile(path, { key: 'a.key' });
    },
  );

  it.each(['0604', '0644', '0602', '0601', '0660', '0650'])(
    'refuses a file of mode %s',
    async mode => {
      await chmod(path, mode);
      const message = `${path} is accessible to other users (mode ${mode}): run chmod 600, or chmod 640`;
      await expect(readSecretFile(path)).rejects.toThrow(message);
      await expect(checkSecretFile(path, { key: 'a.key' })).rejects.toThrow(
        `a.key: ${message}`,
      );
    },
  );

  it.each(['0640', '0620', '0610', '0604'])(
    'refuses a file of mode %s when the group may not read',
    async mode => {
      await chmod(path, mode);
      await expect(
        readSecretFile(path, { groupMayRead: false }),
      ).rejects.toMatchObject({ name: 'SecretFileError' });
    },
  );

  it('refuses other kinds of files without blocking', async () => {
    const fifo = join(folder, 'fifo');
    execFileSync('mkfifo', ['-m', '600', fifo]);
    for (const other of [fifo, folder]) {
      await expect(readSecretFile(other)).rejects.toThrow(
        `${other} is not a regular file`,
      );
    }
  });

  it('rejects with ENOENT when the file is missing, while the check passes', async () => {
    const missing = join(folder, 'missing');
    await expect(readSecretFile(missing)).rejects.toMatchObject({
      code: 'ENOENT',
    });
    await checkSecretFile(missing, { key: 'a.key' });
  });
});
