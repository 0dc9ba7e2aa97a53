/** The rest of a transaction in examples: paid by card, with the minimum of an address. */
export const EXAMPLE_PAYMENT = {
  payment: { creditCard: { last4: '1111' } },
  billTo: {
    firstName: 'Robin',
    lastName: 'Example',
    address: '1 Main Street',
    city: 'Springfield',
    state: 'IL',
    zip: '62701',
    country: 'US',
    phoneNumber: '+1 217 555 0142',
  },
  customerIP: '203.0.113.7',
  avsResultCode: 'Y',
  cvvResultCode: 'M',
};
