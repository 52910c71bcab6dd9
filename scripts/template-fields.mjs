// A template with the Scaffolder's fields for users and groups, and its check in
// the portal that scripts/test-install.mjs installs.

import assert from 'node:assert/strict';

/** The template, as a file of the catalog. */
export const FIELDS_TEMPLATE = `
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata:
  name: directory-fields
spec:
  owner: user:default/alice
  type: service
  parameters:
    - title: Service
      required: [owner]
      properties:
        owner:
          title: Owner
          type: string
          ui:field: DirectoryGroupPicker
        contact:
          title: Contact
          type: string
          default: user:default/bob
          ui:field: DirectoryUserPicker
  steps:
    - id: log
      name: Log
      action: debug:log
      input: { message: '\${{ parameters.owner }}' }
`;

/**
 * Fills in the template by keyboard and creates its task. Prints the times
 * until the form and the results are visible; those of searches include 150 ms
 * of delay after the last key.
 *
 * @throws AssertionError for violations of axe and for other stored values
 */
export async function checkFields({ page, url, AxeBuilder }) {
  const combobox = name => page.getByRole('combobox', { name });
  const option = name =>
    page.getByRole('option', { name: new RegExp(`^${name}\\b`) });
  const button = name => page.getByRole('button', { name, exact: true });

  await timed('form', async () => {
    await page.goto(`${url}/create/templates/default/directory-fields`);
    await combobox('Owner').waitFor({ timeout: 120_000 });
  });
  await tabTo(page, combobox('Owner'));
  await timed('own groups', () => page.getByRole('option').first().waitFor());
  await checkAccessibility(page, AxeBuilder);
  await page.keyboard.type('provenp');
  await timed('results for a group', () => option('provenpackager').waitFor());
  await page.keyboard.press('ArrowDown');
  await checkAccessibility(page, AxeBuilder);
  await page.keyboard.press('Enter');

  await tabTo(page, combobox('Contact'));
  assert.equal(await combobox('Contact').inputValue(), 'bob');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('alice');
  await timed('results for a user', () => option('alice').waitFor());
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('listbox').waitFor({ state: 'hidden' }); // fades out
  await checkAccessibility(page, AxeBuilder);

  await tabTo(page, button('Review'));
  await page.keyboard.press('Enter');
  await tabTo(page, button('Create'));
  const [request] = await Promise.all([
    page.waitForRequest(
      each => each.method() === 'POST' && each.url().endsWith('/v2/tasks'),
    ),
    page.keyboard.press('Enter'),
  ]);
  assert.deepEqual(request.postDataJSON().values, {
    owner: 'group:default/provenpackager',
    contact: 'user:default/alice',
  });
  assert.equal((await request.response()).status(), 201);
}

/** Presses Tab until an element has the focus. */
async function tabTo(page, target) {
  await target.waitFor();
  for (let presses = 0; presses < 100; presses += 1) {
    if (await target.evaluate(each => each === document.activeElement)) {
      return;
    }
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${target}`);
}

/** Requires that axe finds nothing in the form and in an open list. */
async function checkAccessibility(page, AxeBuilder) {
  const axe = new AxeBuilder({ page }).setLegacyMode().include('form');
  if (await page.getByRole('listbox').isVisible()) {
    axe.include('[role="listbox"]');
    // React Aria hides the other fields while the list is open; Tab closes it.
    axe.disableRules('aria-hidden-focus');
  }
  const { violations } = await axe.analyze();
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id}: ${html}`),
  );
  assert.deepEqual(found, []);
}

async function timed(title, run) {
  const started = performance.now();
  await run();
  console.log(`     ${Math.round(performance.now() - started)} ms ${title}`);
}
