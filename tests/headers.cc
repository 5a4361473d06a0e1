// The precompiled headers of the tests are built with this file.
